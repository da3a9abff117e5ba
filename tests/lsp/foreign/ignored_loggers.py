"""Loggers that Dynamo was told to leave out."""

import logging

import torch

logger = logging.getLogger(__name__)
torch._dynamo.config.ignore_logger_methods = {logging.Logger.info, logger.info}
if hasattr(torch._dynamo.config, "ignore_logging_functions"):
    torch._dynamo.config.ignore_logging_functions = {logging.Logger.info, logger.info}


@torch.compile(backend="eager")
def quiet(x):
    logger.info("in quiet")
    return x.sin()


if __name__ == "__main__":
    quiet(torch.ones(3))
