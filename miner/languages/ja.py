"""Japanese."""

from miner.languages.language import Conventions, Headings, Language, PartWords

LANGUAGE = Language(
    code="ja",
    name="japanese",
    conventions=Conventions(
        marks=(
            "corner",
            "double-corner",
            "double-curly",
        ),
        has_dash=False,
        quotes_beside_dash=True,
        function_words="",
    ),
    headings=Headings(
        divisions="第[0-9０-９一二三四五六七八九十百]+[章回巻部]",
        parts="第[0-9０-９一二三四五六七八九十百]+[巻部]",
        chapter="第[0-9０-９一二三四五六七八九十百]+[章回]",
        contents="目次",
        no_chapter="目次",
    ),
    parts=PartWords(
        preface="序文|序|はしがき|まえがき|あとがき",
        notes="注|註|注釈|付録",
        index="索引",
        end="終|完|おわり",
    ),
)
