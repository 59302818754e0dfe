"""The BERT+BiLSTM conversation tagger: its examples, its model, its training, its checkpoints."""
