# %%
import torch
import torch.nn as nn


# %%
class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
        self.fc = nn.Linear(4, 10)

    def forward(self, x):
        x = self.features(x).flatten(1)
        print(x.shape)  # breaks
        return self.fc(x)


# %%
model = Classifier()
opt_model = torch.compile(model, backend="eager")
images, labels = torch.randn(4, 1, 8, 8), torch.randint(0, 10, (4,))


# %%
def train(images, labels):
    out = opt_model(images)
    loss = nn.CrossEntropyLoss()(out, labels)
    loss.backward()
    return loss.item()


train(images, labels)


# %%
@torch.compile(backend="eager")
def predict(x):
    probs = model(x).softmax(1)
    best = probs.max()
    if best > 0.9:  # breaks
        print("sure")
    return probs.argmax(1).tolist()  # breaks


predict(images)
