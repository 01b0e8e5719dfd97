// placeholder until the first test of Belfry lands
