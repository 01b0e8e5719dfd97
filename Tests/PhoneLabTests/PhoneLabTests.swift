// placeholder until the first test of PhoneLab lands
