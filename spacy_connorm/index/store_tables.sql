-- What is added, in the order in which it comes: a concept has a place.
CREATE TABLE stage.concepts (
    place INTEGER PRIMARY KEY, id TEXT UNIQUE, name TEXT, definition TEXT, in_ontology INTEGER,
    vocabulary TEXT);
CREATE TABLE stage.alt_ids (value TEXT, place INTEGER);
CREATE TABLE stage.spellings (value TEXT, place INTEGER);
CREATE TABLE stage.types (value TEXT, place INTEGER);
CREATE TABLE stage.parents (value TEXT, place INTEGER);
CREATE TABLE stage.xrefs (value TEXT, place INTEGER);
CREATE TABLE stage.languages (name TEXT, language TEXT, place INTEGER);
CREATE TABLE stage.repeated (place INTEGER PRIMARY KEY);
CREATE TABLE stage.unknown (text TEXT, place INTEGER);
CREATE INDEX stage.by_alt_id ON alt_ids (value);
CREATE INDEX stage.by_spelling ON spellings (value);

-- What a `ConceptStore` reads: concepts have numbers, in the order of their ids.
CREATE TABLE main.concepts (
    number INTEGER PRIMARY KEY, id TEXT UNIQUE, name TEXT, definition TEXT, in_ontology INTEGER,
    vocabulary TEXT);
CREATE TABLE main.alt_ids (id TEXT, number INTEGER);
CREATE TABLE main.spellings (id TEXT, number INTEGER);
CREATE TABLE main.types (type TEXT, number INTEGER);
CREATE TABLE main.parents (parent INTEGER, child INTEGER);
CREATE TABLE main.xrefs (number INTEGER PRIMARY KEY, curies TEXT);
CREATE TABLE main.languages (number INTEGER, name TEXT, language TEXT);
CREATE TABLE main.vocabularies (prefix TEXT PRIMARY KEY);
