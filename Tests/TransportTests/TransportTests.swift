// placeholder until the first test of Transport lands
