"""Media types at the door."""

import pytest

from kilonova.http.media import HTML, JSON, TEXT, Accepted, page


@pytest.mark.parametrize(
    ("accept", "best"),
    [
        (None, JSON),
        ("*/*", JSON),
        ("application/json", JSON),
        ("application/*", JSON),
        ("text/html", HTML),
        ("Text/HTML;q=0.5, application/json;q=0.4", HTML),
        ("text/html,application/xml;q=0.9,*/*;q=0.8", HTML),
        ("text/plain", TEXT),
        ("image/png", ""),
        ("application/json;q=0", ""),
        ("*/*, application/json;q=0, text/html;q=0.1", TEXT),
        ("text/html;q=nonsense", HTML),
        ("", ""),
    ],
)
def test_the_best_offer_is_the_one_that_the_client_likes_most(accept, best):
    offers = Accepted(JSON, HTML, TEXT)

    assert offers.best(accept) == best
    assert offers.best(accept) == best


def test_a_page_says_a_sentence_without_its_markup():
    assert "&lt;b&gt;" in page("Bad Request", 400, "<b>")
