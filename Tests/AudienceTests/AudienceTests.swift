// placeholder until the first test of Audience lands
