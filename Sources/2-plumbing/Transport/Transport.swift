// placeholder until the first file of Transport lands
