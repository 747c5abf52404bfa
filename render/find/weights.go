package find

// Scores from which something is found.
const (
	enoughForCode = 3.6
	tieOfCodes    = 0.6 // with another candidate this close to the best, neither is chosen
	enoughForLink = 3.6
	tieOfLinks    = 0.3
)

// weight is what a feature is worth, in points: as a person sees it, and as fitted to the fixtures by
// "go test ./render/find -run TestFit -fit", which holds it to the former. The score is the sum of the
// fitted ones. A new feature has the same figure twice until the next fit.
//
// Figures of the fit:
//
//   - Codes by hand: 2473 right, 12 missed, 0 wrong, likelihood -191.27.
//   - Codes fitted to nine tenths of the sources, on the tenth left out: 2479 right, 2 missed, 4 wrong, likelihood -72.03.
//   - Codes fitted to all: 2485 right, 0 missed, 0 wrong, likelihood -27.50.
//   - Links by hand: 2476 right, 9 missed, 1 wrong, likelihood -74.67.
//   - Links fitted to nine tenths of the sources, on the tenth left out: 2481 right, 2 missed, 3 wrong, likelihood -24.63.
//   - Links fitted to all: 2486 right, 0 missed, 0 wrong, likelihood -6.29.
type weight struct {
	hand, fitted float64
}

var phraseWeights = map[string]weight{
	"word that means a code and nothing else": {4, 4.71},
	"word that may mean a code":               {3, 4.43},
	"word with what the code is for":          {0.4, 0.62},
	"word right beside it":                    {0.5, 0.51},
	"word close to it":                        {0.3, 0.20},
	"word nearer to another number":           {-1.5, -0.49},
	"word in the next sentence":               {-1, 0.00},
	"word above it in the footer":             {-1, -1.00},
	"distance of the word, in 100 characters": {-2, -0.86},
}

var codeWeights = map[string]weight{
	"six digits":                                 {0.7, 0.44},
	"digits, but not six":                        {0.2, 0.11},
	"as long as a telephone number":              {-5, -5.00},
	"looks like a year":                          {-1, -0.84},
	"looks like a year, no word right beside it": {-1.5, -0.93},
	"year of a date":                             {-2, -3.35},
	"one character to a cell":                    {1.6, 2.00},
	"letters one to a cell, no word near":        {-3.5, -3.66},
	"groups, no word near":                       {-1.5, -1.50},
	"prefix of another number, or no word near":  {-1.5, -1.50},
	"letters and digits, no word near":           {-3, -3.09},
	"a word and a number, as coupons are":        {-2.5, -2.69},
	"a name and a number":                        {-2, -3.09},
	"letters and digits, not marked":             {-0.5, -0.50},
	"long, within a line":                        {-1, -1.00},
	"capitals":                                   {-0.6, -0.58},
	"capitals, not marked":                       {-3.4, -3.40},
	"part of a phrase":                           {-4, -4.00},
	"words with hyphens":                         {-0.7, -0.86},
	"small letters":                              {-1.2, -1.20},
	"two words":                                  {-0.7, -0.75},
	"many letters and digits":                    {-0.5, -0.49},
	"where no code of this shape would be":       {-8, -8.00},
	"alone in its line":                          {1.3, 1.32},
	"large":                                      {0.8, 0.04},
	"spaced":                                     {0.6, 0.52},
	"monospaced":                                 {0.4, 0.43},
	"bold":                                       {0.4, 0.59},
	"in a box":                                   {0.4, 0.41},
	"a heading":                                  {0.3, 0.19},
	"the only number, set apart in a mail that asks for something":    {0.7, 0.86},
	"set apart, and the subject asks for something":                   {0.6, 1.17},
	"the only number of a short mail that asks for something":         {3, 4.76},
	"alone in a short mail about a code":                              {1, 1.52},
	"the only number, in a sentence that asks":                        {2, 1.99},
	"letters and digits in a sentence that asks":                      {5, 5.39},
	"word for a password before it":                                   {-3, -3.00},
	"in the footer":                                                   {-2.5, -2.84},
	"quoted":                                                          {-3.5, -4.11},
	"part of a link":                                                  {-1.5, -1.50},
	"a word right beside it in its sentence":                          {0.8, 0.83},
	"after a colon":                                                   {0.3, 0.35},
	"the subject names a one-time code":                               {0.8, 0.21},
	"the subject may name a code":                                     {0.4, 0.00},
	"the only number of a mail about a code":                          {0.4, 0.00},
	"its line says that it expires":                                   {0.4, 0.51},
	"in the subject too":                                              {1.5, 1.26},
	"in the preheader too":                                            {0.8, 0.80},
	"in both bodies":                                                  {0.5, 0.50},
	"in a link that asks for something":                               {2, 2.00},
	"not in a body":                                                   {-0.5, -0.14},
	"numbered with # or №":                                            {-4, -4.09},
	"the number of something in the subject":                          {-4, -4.00},
	"name of another number right before it":                          {-5, -5.11},
	"name of another number before it, and none of a code":            {-2.5, -2.40},
	"name of another number between it and the word":                  {-1, 0.00},
	"name of another number above it":                                 {-4, -4.00},
	"a later sentence names another number":                           {-2, -2.59},
	"a quantity":                                                      {-5, -5.00},
	"word for another kind of code beside it":                         {-4, -4.00},
	"word for another kind of code above it":                          {-4, -4.09},
	"word for another kind of code two lines above":                   {-2, -2.00},
	"part of a name":                                                  {-4, -4.00},
	"one of a list of such":                                           {-4, -4.31},
	"beside a percentage":                                             {-2, -2.04},
	"words of trade in its line":                                      {-1, -2.96},
	"the mail is about a meeting":                                     {-5, -5.14},
	"the mail is about orders, offers or news":                        {-3, -4.69},
	"nothing says what it opens, and some of the mail is about trade": {-2, -2.20},
	"nothing says which of the numbers is the code":                   {-1.7, -3.65},
	"nothing says what it opens, and there are other figures":         {-1.6, -2.54},
	"subject and line tell what has happened":                         {-3, -3.53},
	"the subject tells what has happened":                             {-2, -2.00},
}

var linkWeights = map[string]weight{
	"its text asks what the subject asks":                      {4, 4.95},
	"its text asks what the mail opens with":                   {3.3, 2.85},
	"its text asks":                                            {2.5, 2.05},
	"a bare or general text":                                   {1, 1.37},
	"its text asks nothing":                                    {-0.7, -0.63},
	"a button":                                                 {1, 1.90},
	"named like the links of a footer":                         {-4, -4.00},
	"about an order, an offer or news":                         {-2.5, -3.12},
	"undoes or refuses":                                        {-4, -4.00},
	"a mere way to sign in":                                    {-4, -4.00},
	"a mere way to join":                                       {-2, -2.88},
	"no more than a word of signing in near it":                {-0.5, -0.33},
	"its sentence asks":                                        {1.2, 1.00},
	"its sentence asks what the mail asks":                     {0.5, 0.30},
	"nothing near it asks":                                     {-1, -0.89},
	"nothing in the mail asks":                                 {-2.5, -2.56},
	"its sentence says to follow it":                           {0.7, 0.74},
	"to be copied into a browser":                              {1, 1.73},
	"beside words of trade":                                    {-1.5, -1.50},
	"for those who did not ask":                                {-4, -4.13},
	"in what looks like the footer":                            {-1, -1.00},
	"in the footer":                                            {-5, -5.00},
	"carries a secret":                                         {1.3, 1.56},
	"carries what looks like a secret":                         {0.7, 1.82},
	"its path says so too":                                     {1.2, 1.46},
	"its path asks":                                            {0.5, 1.91},
	"asks by its path and carries a secret":                    {1, 0.73},
	"the only link, asks by its path and carries a secret":     {2.2, 2.05},
	"asks nothing by its path, and carries nothing":            {-1.5, -2.01},
	"leads to a front page":                                    {-3, -2.82},
	"leads to what footers link to":                            {-3, -3.00},
	"its path undoes or refuses":                               {-2.5, -2.50},
	"leads to a call":                                          {-4, -4.00},
	"carries the marks of a campaign":                          {-1.5, -1.53},
	"a profile in a social network, or a shop of applications": {-6, -6.00},
	"the subject tells what has happened, but it asks":         {-1.8, -1.19},
	"the subject tells what has happened":                      {-3, -2.62},
	"the mail tells what has happened":                         {-1.5, -1.50},
	"the subject asks, and tells what has happened":            {-1, -1.08},
	"the mail is about orders, offers or news":                 {-3, -3.93},
	"the mail is about orders, offers or news, but it answers": {-0.8, -0.45},
	"some of the mail is about orders, offers or news":         {-1, -1.00},
	"the subject asks for something":                           {0.8, 1.26},
	"the mail has a code":                                      {-3.5, -3.27},
	"the mail is about a meeting":                              {-4, -4.00},
	"the only link of the text":                                {0.7, 0.08},
	"the only link of a short mail, which asks for something":  {1, 2.12},
	"the only answer to the subject":                           {1, 1.05},
}
