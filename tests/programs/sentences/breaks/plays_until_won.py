"""A vectorized game played in a compiled loop until all have won, with the rounds counted."""

import torch


class Game:
    def __init__(self, players: int, goal: float) -> None:
        self.points, self.goal = torch.zeros(players), goal

    def __bool__(self) -> bool:
        return bool((self.points < self.goal).any())

    def play(self, dice: torch.Tensor, bonus: float) -> None:
        self.points = torch.where(self.points < self.goal, self.points + dice * bonus, self.points)


@torch.compile(backend="eager")
def rounds_of(game: Game, dice: torch.Tensor, bonus: float) -> int:
    rounds = 0
    while game:
        game.play(dice[rounds % len(dice)], bonus)
        rounds += 1
    return rounds


torch.manual_seed(0)
for players, bonus in ((3, 1.0), (3, 2.0), (5, 1.0)):
    game = Game(players, 10.0)
    rounds = rounds_of(game, torch.randint(1, 7, (4, players)).float(), bonus)
    print(players, bonus, rounds, game.points.tolist())
# breaks: 11
# compiles: 3
# remedy: +13 -> @torch.compile(backend="eager") && -17 -> breaks none
