package service

import "strings"

var adjectives = strings.Fields(`
able agile airy alert amber ample apt aqua azure bold brave breezy bright brisk calm candid
chief chilly civic clean clear clever cosy crisp curly dapper daring deep deft dewy dusky eager
early earnest easy elder elfin epic even fair fancy fast fleet fluent fond free fresh frosty
gentle gilded glad golden grand green handy happy hardy hazel honest humble icy ideal indigo jade
jolly jovial keen kind lavish lean level light lilac limber lively loyal lucid lucky lunar
mellow merry mild mint misty modest mossy neat nimble noble novel opal olive patient placid
plucky plum polite prime proper proud quick quiet rapid ready regal rosy royal ruby rustic sage
sandy serene sharp shy silent silver sleek snowy solar solid sound spry steady still sunny sure
swift tawny tidy tranquil trusty upbeat valiant velvet vivid warm wary whole willing windy wise witty zesty
`)

var animals = strings.Fields(`
adder alpaca ant auk avocet badger barbet bat bear beaver bee beetle bison bittern boar bobcat
bunting buzzard camel caracal carp cat chough cicada civet clam cobra cod colt condor coot coral
coyote crab crane cricket crow curlew deer dingo dolphin dormouse dove dunlin eagle eel egret
eider elk emu ermine falcon fawn ferret finch firefly flamingo fox frog gannet gazelle gecko gibbon
goat godwit goose grebe grouse gull hare harrier hawk hedgehog heron hoopoe hornet ibex ibis
iguana jackal jackdaw jay kestrel kite kiwi koala lapwing lark lemming lemur leopard linnet lion
lizard llama lobster loon lynx magpie mallard marlin marmot marten mayfly merlin mole moose moth
mussel narwhal newt nuthatch ocelot octopus oriole osprey otter owl oyster panda parrot pelican
perch petrel pigeon pike pipit plover pony puffin puma quail rabbit raccoon raven robin rook salmon
seal shrew siskin skylark snipe sparrow squid stoat stork swallow swan swift tapir teal tern thrush
tiger toad trout turtle viper vole walrus warbler weasel whale wolf wombat wren yak zebra
`)
