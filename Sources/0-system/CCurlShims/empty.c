// A C target needs one source file; every shim is static inline in include/.
