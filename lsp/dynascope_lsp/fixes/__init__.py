"""Mechanical fixes: each module turns findings of its kind into titles and edits; `features/code_actions.py` offers
them."""
