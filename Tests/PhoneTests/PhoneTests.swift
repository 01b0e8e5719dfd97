// placeholder until the first test of Phone lands
