package store

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/store/internal/ranking"
)

// readWords parses the included and excluded words of the query in the pipeline's
// language.
func (s *search) readWords(ctx context.Context) error {
	items := ranking.Split(text(s.query.Text))
	texts := make([]string, 0, len(items)+len(s.query.Exclude))
	for _, item := range items {
		texts = append(texts, item.Text)
	}
	for _, phrase := range s.query.Exclude {
		texts = append(texts, text(phrase))
	}
	rows, err := s.q.ReadWords(ctx, db.ReadWordsParams{Language: s.pipeline.Language, Texts: texts})
	if err != nil {
		return err
	}
	readings := make([]ranking.Reading, len(rows))
	for i, row := range rows {
		readings[i] = ranking.Reading{Whole: row.Whole, Plain: row.Plain, Parts: row.Parts}
	}
	s.words = ranking.NewQuery(items, readings[:len(items)], readings[len(items):])
	return nil
}

// byWords returns the best chunks that have one of the query's words.
func (s *search) byWords(ctx context.Context) ([]retrieval.IndexHit, error) {
	stats, err := s.statistics(ctx)
	if err != nil {
		return nil, err
	}
	most := max(minRanked, 2*s.query.Limit)
	if len(s.query.Filter) > 0 {
		most = max(minFiltered, most)
	}
	ranker := ranking.NewRanker(s.words, stats, nil, most)
	if err := s.postings(ctx, ranker); err != nil {
		return nil, err
	}
	best, err := s.searched(ctx, ranker.Top())
	if err != nil {
		return nil, err
	}
	if len(best) < s.query.Limit && len(ranker.Top()) == most { // The filter removed too many.
		numbers, err := s.q.ListSearched(ctx, db.ListSearchedParams{
			TenantID: s.pipeline.TenantID, PipelineID: s.pipeline.ID, Conditions: s.conditions,
		})
		if err != nil {
			return nil, err
		}
		ranker = ranking.NewRanker(s.words, stats, set(numbers), s.query.Limit)
		if err := s.postings(ctx, ranker); err != nil {
			return nil, err
		}
		best = ranker.Top()
	}
	return s.passages(ctx, best)
}

// searched returns the best of the ranked passages, without those of replaced or deleted
// documents or outside the filter.
func (s *search) searched(ctx context.Context, ranked []ranking.Passage) ([]ranking.Passage, error) {
	documents := make(map[int64]bool, len(ranked))
	for _, p := range ranked {
		documents[p.Document] = true
	}
	numbers, err := s.q.FilterSearched(ctx, db.FilterSearchedParams{
		TenantID: s.pipeline.TenantID, PipelineID: s.pipeline.ID, Conditions: s.conditions,
		Numbers: slices.Collect(maps.Keys(documents)),
	})
	if err != nil {
		return nil, err
	}
	allowed := set(numbers)
	best := slices.DeleteFunc(slices.Clone(ranked), func(p ranking.Passage) bool { return !allowed[p.Document] })
	return best[:min(len(best), s.query.Limit)], nil
}

func set(numbers []int64) map[int64]bool {
	out := make(map[int64]bool, len(numbers))
	for _, number := range numbers {
		out[number] = true
	}
	return out
}

// statistics reads the index statistics of the query's words in one round trip.
func (s *search) statistics(ctx context.Context) (ranking.Statistics, error) {
	stats := ranking.Statistics{Counts: map[string]int64{}}
	b := &pgx.Batch{}
	b.Queue(db.MeasureIndex, s.pipeline.TenantID, s.pipeline.ID).QueryRow(func(row pgx.Row) error {
		return row.Scan(&stats.Passages, &stats.Length)
	})
	b.Queue(db.CountWords, s.pipeline.TenantID, s.pipeline.ID, s.words.Words()).Query(func(rows pgx.Rows) error {
		var word string
		var count int64
		_, err := pgx.ForEachRow(rows, []any{&word, &count}, func() error {
			stats.Counts[word] = count
			return nil
		})
		return err
	})
	return stats, s.tx.SendBatch(ctx, b).Close()
}

// postings passes all postings of the query's words to a ranker, block by block, one
// block in memory at a time.
func (s *search) postings(ctx context.Context, ranker *ranking.Ranker) error {
	words := s.words.Words()
	index := make(map[string]int, len(words))
	for i, word := range words {
		index[word] = i
	}
	rows, err := s.tx.Query(ctx, db.ReadPostings, s.pipeline.TenantID, s.pipeline.ID, words)
	if err != nil {
		return err
	}
	defer rows.Close()
	block := make([][]byte, len(words))
	var (
		number, last int64
		word         string
		raw          pgtype.DriverBytes // Valid until the next row.
	)
	for rows.Next() {
		if err := rows.Scan(&number, &word, &raw); err != nil {
			return err
		}
		if number != last {
			if err := ranker.Block(ctx, block); err != nil {
				return err
			}
			for i := range block {
				block[i] = block[i][:0]
			}
		}
		last = number
		i := index[word]
		block[i] = append(block[i][:0], raw...)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return ranker.Block(ctx, block)
}

// passages reads chunks. Deleted ones are left out.
func (s *search) passages(ctx context.Context, best []ranking.Passage) ([]retrieval.IndexHit, error) {
	params := db.FindPassagesParams{
		TenantID: s.pipeline.TenantID, Documents: make([]int64, len(best)), Positions: make([]int32, len(best)),
	}
	for i, p := range best {
		params.Documents[i], params.Positions[i] = p.Document, number(p.Position)
	}
	rows, err := s.q.FindPassages(ctx, params)
	if err != nil {
		return nil, err
	}
	return collect(rows, func(row db.FindPassagesRow) (retrieval.IndexHit, error) {
		return hitOf(row.Chunk, row.Key, row.LiveTitle, row.LiveSource, row.LiveMetadata, best[row.Number-1].Score)
	})
}

// findExcluded finds the chunks that the query excludes.
func (s *search) findExcluded(ctx context.Context) error {
	if !s.words.Excludes() {
		return nil
	}
	var found []ranking.Passage
	documents := make(map[int64]retrieval.DocumentRef)
	err := s.postings(ctx, ranking.NewExclusion(s.words, func(p ranking.Passage) {
		found = append(found, p)
		documents[p.Document] = retrieval.DocumentRef{}
	}))
	if err != nil {
		return err
	}
	rows, err := s.q.NameDocuments(ctx, db.NameDocumentsParams{
		TenantID: s.pipeline.TenantID, Numbers: slices.Collect(maps.Keys(documents)),
	})
	if err != nil {
		return err
	}
	for _, row := range rows {
		documents[row.Number] = retrieval.DocumentRef{Document: row.DocumentID, Version: row.Version}
	}
	for _, p := range found {
		s.excluded = append(s.excluded, chunkID(documents[p.Document], p.Position))
	}
	return nil
}
