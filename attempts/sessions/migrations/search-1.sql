-- How far each stream has been read into the ledger.
CREATE TABLE marks (stream TEXT PRIMARY KEY, offset INTEGER NOT NULL, size INTEGER NOT NULL, state TEXT NOT NULL) WITHOUT ROWID;

-- What full-text search finds: documents name the rows, words holds what is said there without a second copy of it.
CREATE TABLE documents (number INTEGER PRIMARY KEY, kind INTEGER NOT NULL, id TEXT NOT NULL, UNIQUE (id, kind));
CREATE VIRTUAL TABLE words USING fts5 (content, content = '', contentless_delete = 1);
