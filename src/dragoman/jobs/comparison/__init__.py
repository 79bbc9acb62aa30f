"""What `dragoman.jobs.compare` is made of.

contest     a file of recipes and questions, read
work        one run: its text, its training, its figures
side_by_side, alone
            several runs at once, in a process each
figures     what is measured of one trained model
times       how long models take, all in turn
measures    what a question may ask for, read from the figures
verdicts    whether that is what the lectures lead one to expect
findings    the report
"""
