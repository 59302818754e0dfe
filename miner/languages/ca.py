"""Catalan."""

from miner.languages.language import Conventions, Headings, Language, PartWords, SpeechWords

LANGUAGE = Language(
    code="ca",
    name="catalan",
    conventions=Conventions(
        marks=(
            "guillemets",
            "double-curly",
            "double-straight",
        ),
        has_dash=True,
        quotes_beside_dash=False,
        function_words="el la els les amb que no per una del més havia",
    ),
    headings=Headings(
        divisions="cap[íi]tol|llibre|pròleg|epíleg|(?:primera|segona|tercera|quarta) part",
        parts="llibre|(?:primera|segona|tercera|quarta) part",
        chapter="cap[íi]tol",
        contents="taula|índex",
        no_chapter="taula|índex|fi(?=\\W*$)",
    ),
    parts=PartWords(
        preface="pr[òo]leg|prefaci|introducció|advertiment|al lector|als lectors|"
        "epíleg de l[’']autor",
        front="dedicat[òo]ria",
        notes=r"notes(?=\W*$)|apèndix|glossari|fe d[’']errates",
        index="índex (?:alfabètic|de noms)",
        advertisements="obres (?:del|de la) mateix|del mateix autor",
        illustrations="índex de (?:làmines|gravats|il·lustracions)",
        end="fi(?: (?:de|del|d[’']).{0,40})?",
        imprint="impremta|imprès|editorial|llibreria",
    ),
    speech=SpeechWords(
        think_inverted="pensà",
        write="escrigué|escriví",
        write_after_comma="escrigué|escriví",
    ),
)
