//! What an input looks like to a decoder and its branch predictor.
