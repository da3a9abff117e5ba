import itertools


class TrackManager:
    def __init__(self, max_age):
        self.max_age = max_age
        self.ids = itertools.count(1)
        self.age = {}

    def advance(self, matched, n):
        for i in range(n):
            if i not in self.age:
                self.age[i] = [next(self.ids), 0]
            elif i in matched:
                self.age[i][1] = 0
            else:
                self.age[i][1] += 1

    def summary(self):
        return {tid: age for tid, age in self.age.values() if age <= self.max_age}
