def centre(x):
    mean = x.mean()
    print("mean", mean)
    return x - mean
