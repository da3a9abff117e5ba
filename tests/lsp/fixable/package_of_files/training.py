def run(model, batches, scale):
    return [model(batch, scale).shape for batch in batches]
