"""The training of the BERT+BiLSTM conversation tagger."""
