"""What `dragoman.jobs.compare` is made of.

contest     a file of recipes and questions, read
figures     what is measured of one trained model
times       how long models take, all in turn
measures    what a question may ask for, read from the figures
verdicts    whether that is what the lectures lead one to expect
findings    the report
"""
