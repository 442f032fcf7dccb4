DETACH stage;
CREATE INDEX by_alt_id ON alt_ids (id);
CREATE INDEX by_spelling ON spellings (id);
CREATE INDEX by_type ON types (type, number);
CREATE INDEX types_of ON types (number);
CREATE INDEX by_parent ON parents (parent);
CREATE INDEX parents_of ON parents (child);
CREATE INDEX languages_of ON languages (number);
