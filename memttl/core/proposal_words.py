"""The words by which a first policy tells what is passing and what stays, as prefixes and regular expressions. Pure.

`proposal.py` and `proposal_text.py` write them into the policy, `prompt_words.py` knows them again. In doubt a text
stays: in a sprint it has to say that it is done, or be the line of a log, and hold none of the words of what is open,
broken, decided, liked or learned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

# prefix -> the built-in tier that it names; the first of each is the tier's own
WORDS = {
    "session": "session", "session note": "session", "session notes": "session", "session log": "session",
    "sesión": "session", "sessão": "session", "temp": "session", "temporary": "session", "tmp": "session",
    "scratch": "session", "scratchpad": "session", "ephemeral": "session", "short-term": "session",
    "operational": "operational", "sprint": "operational", "standup": "operational", "stand-up": "operational",
}  # fmt: skip
# only these are notes where a date stands behind them and no brackets around: "temp: 2026-01-05 38.2" is a fever
DATED = {word for word in WORDS if word.startswith(("session", "sesi", "sess", "operational", "sprint", "stand"))}

# what stays though it stands in a sprint or in session notes: open work, faults, decisions, lessons, people, addresses;
# a word too many here keeps a text too many, which is the lesser harm
KEPT_PATTERNS = (
    # English: work that is open
    r"(?i)\b(?:to-?dos?|fixme|tbd|open|pending|block(?:ed|er|s|ing)|wait(?:s|ing)?|carr(?:y|ied|ies)[ -]?over)\b|\[ \]",
    r"(?i)\b(?:unresolved|unmerged|unfinished|remain\w*|follow.?ups?|next|still|until|yet|later|tomorrow|soon|ongoing)\b",
    r"(?i)\b(?:not|cannot|\w+n[’.\x27]t|no|without|needs?|needed|missing|plans?|planned|will|ask|half|partly|wip)\b",
    r"(?i)\b(?:in progress|in review|on branch|on hold|depends?|deadline|due|by (?:mon|tues|wednes|thurs|fri)day)\b",
    # faults
    r"(?i)\b(?:bugs?|issues?|causes?|caused|because|workarounds?|known|broken?|breaks|fail\w*|flaky|errors?|crash\w*)\b",
    r"(?i)\b(?:leak\w*|wrong|incident\w*|regress\w*|faults?|defects?|careful|beware|caveats?|gotchas?|unstable|slow)\b",
    # decisions, preferences, lessons, what gives access
    r"(?i)\b(?:deci\w+|agreed|chos\w+|reject\w+|approv\w+|prefer\w*|likes?|hates?|wants?|always|never|must|should)\b",
    r"(?i)\b(?:ha(?:s|ve) to|rules?|conventions?|polic(?:y|ies)|promise\w*|lessons?|learn\w*|remember|important)\b",
    r"(?i)\b(?:passwords?|tokens?|keys?|secrets?|credentials?|address|phone)\b|https?://|\w@\w",
    # German, French
    r"(?i)\b(?:offen\w*|noch|nächste\w*|wart\w+|blockiert\w*|muss|müssen|soll\w*|immer|nie|niemals|nicht|fehl\w*)\b",
    r"(?i)\b(?:entsch\w+|beschl\w+|bevorzug\w*|kaputt|defekt|ursache|bis|wichtig\w*|gelernt|merk\w*|aussteh\w+|später)\b",
    r"(?i)\b(?:encore|rest(?:e|ent|ant)|prochain\w*|atten\w+|bloqu\w+|doi(?:t|vent)|faut|toujours|jamais|pas)\b",
    r"(?i)\b(?:décid\w+|décision\w*|préf[éè]r\w+|erreurs?|cass[ée]\w*|jusqu\w*|panne|à cause|à faire|échou\w*)\b",
    # Spanish, Portuguese, Italian
    r"(?i)\b(?:pend[ie]\w+|todavía|aún|ainda|próxim\w+|siguiente|esper\w+|aguard\w+|bloquead\w+|deb\w+|dev\w+|falt\w+)\b",
    r"(?i)\b(?:siempre|sempre|nunca|decidi\w*|decis\w+|prefi?er\w+|error\w*|erros?|fall[ao]\w*|falh\w+|causa|hasta|até)\b",
    r"(?i)\b(?:no|não|non|hay que|precisa\w*|quebrad\w+|rot[oa]|importante|ancora|prossim\w+|attesa|aspett\w+)\b",
    r"(?i)\b(?:bloccat\w+|manca\w*|mai|errori?|guast\w+|rott[oaie]|fino|sospeso|da fare|por hacer|a fazer)\b",
    # Dutch, Polish, Russian
    r"(?i)\b(?:nog|volgende|wacht\w*|geblokkeerd|moet\w*|ontbreekt|altijd|nooit|besl\w+|voorkeur|fout\w*|kapot|niet)\b",
    r"(?i)\b(?:oorzaak|tot|jeszcze|nadal|następn\w+|czeka\w*|zablokowan\w+|musi\w*|trzeba|brak\w*|zawsze|nigdy|nie)\b",
    r"(?i)\b(?:zdecyd\w+|decyzj\w+|woli|bł[ąę]d\w*|zepsut\w+|przyczyn\w+|do zrobienia|ещ[её]|пока|следующ\w+|дальше)\b",
    r"(?i)\b(?:не|открыт\w*|жд\w+|ожида\w+|заблок\w+|долж\w+|нужно|надо|всегда|никогда|реш\w+|предпоч\w+|ошиб\w+|слом\w+|причин\w+)\b",
)
# what may go: it begins with a word for what is over, behind a date if there is one, or with a time of day to the
# second, as the lines of a log do; a date alone may be that of a plan
_DATE = r"^[\W_]*(?:20[0-9]{2}-[0-9]{2}-[0-9]{2}\S*\W+)?"
OVER_PATTERNS = (
    rf"(?i){_DATE}(?:completed|done|finished|shipped|delivered|accomplished|closed)\s*:|{_DATE}worked on\b|^\W*\[x\]",
    rf"(?i){_DATE}(?:erledigt|fertig|abgeschlossen|terminé|fait|hecho|completado|terminado|feito|concluído)\s*:",
    rf"(?i){_DATE}(?:fatto|completato|klaar|afgerond|zrobione|ukończone|gotowe|готово|сделано|завершено)\s*:",
    r"^\W*20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}",
)


def marked_pattern(prefixes: Sequence[str]) -> str:
    """Give the regular expression for a text that begins with one of these in brackets, or with a date beside it."""
    words, dated = _alternatives(prefixes), _alternatives(p for p in prefixes if p in DATED)
    found = rf"^[^\w\[(]*[\[(]\s*(?:{words})\b"
    if dated:
        found += rf"|^\W*{_DAY}\S*\W*(?:{dated})\b|^\W*(?:{dated})\W{{1,4}}{_DAY}"
    return f"(?i){found}"


_DAY = "20[0-9]{2}-[0-9]{2}-[0-9]{2}"


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(re.escape(word).replace(r"\ ", " ").replace(r"\-", "-") for word in words)
