//! Properties of every state and every order of events.

mod answers;
mod bounds;
mod disclosure;
mod events;
mod graphs;
mod hostile;
mod laws;
mod mutations;
mod random;
mod replicas;
mod reviews;
mod states;
mod supposed;
mod text;
