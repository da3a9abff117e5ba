def main():
    import torch

    @torch.compile(backend="eager")
    def f(x):
        return x * x.sum().item()

    print(f(torch.ones(2)))


if __name__ == "__main__":
    main()
