// placeholder until the first file of PhoneLab lands
