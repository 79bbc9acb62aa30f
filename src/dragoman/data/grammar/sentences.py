"""Ordinary sentences: statements, questions, descriptions, relative clauses, reports, joined clauses."""

from collections.abc import Callable

from dragoman.data.grammar.phrases import (
    EL,
    ELLOS,
    NOTHING,
    Nominal,
    Phrase,
    Tense,
    ask,
    ask_state,
    complement,
    copula,
    described,
    doing,
    finish,
    fixed,
    join,
    plain,
    predicate,
    pronoun,
    state,
)
from dragoman.data.grammar.writer import OWN, Writer

_COMMA = plain(",", ",")
_BUT = fixed(",=,", "but=pero")
_CONJUNCTIONS = (_BUT, plain("because", "porque"), plain("when", "cuando"), plain("although", "aunque"))


def clause(writer: Writer, tense: Tense | None = None) -> Phrase:
    """Somebody does something, or does not."""
    verb = writer.one(writer.verbs)
    when = tense or writer.tense(verb)
    subject = writer.subject(verb)
    negated = int(writer.chance(0.2))
    done = predicate(verb, when, subject.person, negated)
    return state(subject, done, writer.object(verb), writer.circumstances(verb, when), negated=negated)


def description(writer: Writer, past: bool | None = None, subject: Nominal | None = None) -> Phrase:
    """Somebody or something is so, or is not."""
    who = subject or writer.something()
    adjective = writer.quality(who)
    tense: Tense = "past" if (writer.chance(0.5) if past is None else past) else "present"
    negated = int(writer.chance(0.2))
    be = copula(writer.lexicon.adjectives[adjective].copula, tense, who.person, negated)
    what = described(adjective, writer.degree(adjective), who.gender, int(who.plural))
    return state(who, be, what, negated=negated)


def relative_subject(writer: Writer, who: Nominal) -> Phrase:
    """Who or that does something; between commas after "my aunt", who needs no telling apart."""
    verb = writer.pick("acts", who.lemma)
    tense: Tense = writer.one(("past", "past", "present", "perfect"))
    tense = "past" if tense == "perfect" and verb in writer.states else tense
    that = plain("who" if who.kind == "person" else "that", "que")
    acting = join(that, predicate(verb, tense, who.person), writer.object(verb, 0.2))
    return join(_COMMA, acting, _COMMA) if who.phrase.source[0] in OWN else acting


def relative_object(writer: Writer, what: Nominal) -> Phrase:
    """That somebody does something to."""
    verb = writer.pick("undergoes", what.lemma, "transitive")
    subject = writer.subject(verb, 0.3)
    tense: Tense = writer.one(("past", "past", "perfect"))
    tense = "past" if verb in writer.states else tense
    return join(plain("that", "que"), state(subject, predicate(verb, tense, subject.person)))


def qualified(writer: Writer) -> Nominal:
    """A noun with a relative clause."""
    if writer.chance(0.5):
        who = writer.noun(writer.one(writer.people), 0.1)
        return who._replace(phrase=join(who.phrase, relative_subject(writer, who)))
    what = writer.told_apart(writer.one(writer.objects))
    return what._replace(phrase=join(what.phrase, relative_object(writer, what)))


def long(writer: Writer) -> Phrase:
    """A described or acting noun that carries a relative clause, and its object perhaps another."""
    if writer.chance(0.5):
        return description(writer, subject=qualified(writer))
    who = writer.noun(writer.one(writer.people), 0.1)
    relative = relative_subject(writer, who)
    verb = writer.pick("acts", who.lemma)
    negated = int(writer.chance(0.2))
    done = predicate(verb, writer.tense(verb), who.person, negated)
    what = writer.noun(writer.pick("objects", verb), 0.2)
    narrowed = what.kind == "thing" and what.phrase.source[0] not in OWN and writer.chance(0.5)
    more = relative_object(writer, what) if narrowed else NOTHING
    return join(who.phrase, relative, done, complement(verb, what), more)


def pursued(writer: Writer) -> Phrase:
    """Something done to, after, before or without doing something else."""
    verb = writer.one(writer.deeds)
    subject = writer.subject(verb)
    second = writer.one(writer.creature_deeds if subject.kind == "animal" else writer.deeds)
    how = writer.one(
        (
            plain("to", "para"),
            fixed("after=después de"),
            fixed("before=antes de"),
            plain("without", "sin"),
        )
    )
    bare = how.source == ("to",)
    entry = writer.lexicon.verbs[second]
    act = plain(" ".join(entry.base), entry.infinitive) if bare else doing(second)
    done = predicate(verb, "past", subject.person)
    return state(subject, done, writer.object(verb, 0.15), how, act, writer.object(second, 0.2))


def reported(writer: Writer) -> Phrase:
    """Somebody says, thinks or knows something."""
    who = writer.person()
    many = who.person == ELLOS
    past = writer.chance(0.5)
    if past:
        said = writer.one(
            (
                plain("said", "dijeron" if many else "dijo"),
                plain("thought", "pensaban" if many else "pensaba"),
                plain("knew", "sabían" if many else "sabía"),
            )
        )
    else:
        said = writer.one(
            (
                plain("say" if many else "says", "dicen" if many else "dice"),
                plain("think" if many else "thinks", "piensan" if many else "piensa"),
                plain("know" if many else "knows", "saben" if many else "sabe"),
            )
        )
    if writer.chance(0.5):
        same = pronoun("they", who.gender) if many else pronoun("she" if who.gender == "f" else "he")
        other = same if writer.chance(0.6) else None
        what = _described_person(writer, same, past=past) if other else description(writer, past=past)
    else:
        what = clause(writer, "perfect" if past else writer.one(("present", "past")))
    return join(who.phrase, said, plain("that", "que"), what)


def _described_person(writer: Writer, who: Nominal, *, past: bool) -> Phrase:
    adjective = writer.one(writer.people_adjectives)
    be = copula(writer.lexicon.adjectives[adjective].copula, "past" if past else "present", who.person)
    what = described(adjective, writer.degree(adjective), who.gender, int(who.plural))
    return state(who, be, what)


def joined(writer: Writer) -> Phrase:
    """Two clauses."""
    return _joined(writer, writer.one(_CONJUNCTIONS))


def _joined(writer: Writer, how: Phrase) -> Phrase:
    first = join(clause(writer, "past"), how)
    kind = writer.random.random()
    if kind < 0.4:
        return join(first, description(writer, past=True))
    return join(
        first,
        clause(writer, "past") if kind < 0.8 else description(writer, past=True, subject=qualified(writer)),
    )


def story(writer: Writer) -> Phrase:
    """Three clauses or more."""
    return join(long(writer), _BUT, _joined(writer, writer.one(_CONJUNCTIONS[1:])))


def question(writer: Writer) -> Phrase:
    """A question, with or without a question word."""
    kind = writer.random.random()
    if kind < 0.2:
        who = writer.something()
        adjective = writer.quality(who)
        tense: Tense = writer.one(("present", "present", "past"))
        be = copula(writer.lexicon.adjectives[adjective].copula, tense, who.person)
        what = described(adjective, "", who.gender, int(who.plural))
        asked = ask_state(who, be, what)
        return join(fixed("why=por qué"), asked) if writer.chance(0.3) else asked
    if kind < 0.25:
        what_ = writer.noun(writer.one(writer.objects), 0.3)
        where = copula("estar", "present", what_.person)
        return join(plain("where", "dónde"), where, what_.phrase)
    verb = writer.one(writer.verbs)
    tense = writer.tense(verb)
    if kind < 0.35:
        return join(plain("who", "quién"), predicate(verb, tense, EL), writer.object(verb))
    tense = "past" if tense in {"can", "wish"} else tense
    if kind < 0.45:
        verb = writer.one(writer.handling)
        tense = writer.one(("past", "present"))
        return join(plain("what", "qué"), ask(writer.subject(verb, asked=True), verb, tense))
    asked = ask(writer.subject(verb, asked=True), verb, tense, writer.object(verb))
    if writer.chance(0.7):
        return asked
    where = plain("when", "cuándo") if writer.lexicon.verbs[verb].prepositions else plain("where", "dónde")
    word = where if writer.chance(0.6) else fixed("why=por qué")
    return join(word, asked)


_RULES: tuple[tuple[int, Callable[[Writer], Phrase]], ...] = (
    (30, clause),
    (25, question),
    (18, description),
    (9, long),
    (7, pursued),
    (6, reported),
    (4, joined),
    (1, story),
)
_SHARES = tuple(rule for share, rule in _RULES for _ in range(share))


def ordinary(writer: Writer) -> Callable[[Writer], Phrase]:
    """Choose an ordinary kind of sentence; what is returned writes finished sentences of that kind."""
    rule = writer.one(_SHARES)
    return lambda scribe: finish(rule(scribe), "?" if rule is question else ".")
