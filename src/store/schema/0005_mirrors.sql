-- ------------------------------------------------------------------ files that Resources are tied to

-- the revision that the file held when both were looked at last; NULL: they were not yet
ALTER TABLE resource ADD COLUMN in_file INTEGER CHECK (in_file IS NULL OR mirror IS NOT NULL AND in_file <= revision);

-- why file and Resource can't follow each other
ALTER TABLE resource ADD COLUMN trouble TEXT CHECK (trouble IS NULL OR mirror IS NOT NULL);
