// placeholder until the first test of EndToEnd lands
