// placeholder until the first test of Basics lands
