"""The kit of all HTTP faces: versions, tokens, policy, validation, errors, paging. It knows no resource of any of them."""
