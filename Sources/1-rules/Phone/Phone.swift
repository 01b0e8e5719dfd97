// placeholder until the first file of Phone lands
