"""What compiled autograd captures: captures under way and ended, why each was made, and what its passes did."""
