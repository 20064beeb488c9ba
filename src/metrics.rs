//! Every metric: name, label and bucket.
