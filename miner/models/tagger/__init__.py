"""The BERT+BiLSTM conversation tagger: examples, model, training and checkpoints."""
