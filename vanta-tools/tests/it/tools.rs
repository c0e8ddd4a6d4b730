//! Behaviour beyond the cases: many calls at once, and worlds that change between the judgement and the act.
