// placeholder until the first test of Store lands
