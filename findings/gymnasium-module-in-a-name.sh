#!/usr/bin/env bash
# Gymnasium 1.4.0, whose environments are found by name.
#
# Guess: spec() takes the names that make() and make_vec() take, and a package that has an entry
# point in the group gymnasium.envs is found without an import.
# Seen: make("places:Places-v0") imports the module and makes the environment; spec() refuses the
# name before and after that, and knows Places-v0 only once somebody has imported the module. The
# entry point is not looked at.
. "$(dirname "$0")/lib.sh"
install gymnasium==1.4.0
cd "$folder"
mkdir places-1.dist-info
printf 'Metadata-Version: 2.1\nName: places\nVersion: 1\n' >places-1.dist-info/METADATA
printf '[gymnasium.envs]\n__root__ = places:register\n' >places-1.dist-info/entry_points.txt
cat >places.py <<'PY'
import gymnasium

class Places(gymnasium.Env):
    observation_space = action_space = gymnasium.spaces.Discrete(2)

def register():
    gymnasium.register("Places-v0", "places:Places")

register()
PY
export PYTHONPATH=$folder
expect 'entry points: __root__
make Places-v0: NameNotFound
spec Places-v0: NameNotFound
spec places:Places-v0: NameNotFound
make places:Places-v0: Places-v0
make_vec places:Places-v0: Places-v0
spec places:Places-v0: NameNotFound
spec Places-v0: Places-v0' <<'PY'
from importlib.metadata import entry_points
import gymnasium

def tried(function, name):
    try:
        made = function(name)
    except gymnasium.error.Error as refusal:
        return type(refusal).__name__
    return getattr(made, "id", None) or made.spec.id

print("entry points:", *(entry.name for entry in entry_points(group="gymnasium.envs")))
for function in [gymnasium.make, gymnasium.spec]:
    print(f"{function.__name__} Places-v0:", tried(function, "Places-v0"))
for function in [gymnasium.spec, gymnasium.make, gymnasium.make_vec, gymnasium.spec]:
    print(f"{function.__name__} places:Places-v0:", tried(function, "places:Places-v0"))
print("spec Places-v0:", tried(gymnasium.spec, "Places-v0"))
PY
