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
//   - Codes by hand: 2554 right, 11 missed, 0 wrong, likelihood -235.18.
//   - Codes fitted to nine tenths of the sources, on the tenth left out: 2559 right, 2 missed, 4 wrong, likelihood -66.41.
//   - Codes fitted to all: 2565 right, 0 missed, 0 wrong, likelihood -27.92.
//   - Links by hand: 2537 right, 28 missed, 1 wrong, likelihood -149.54.
//   - Links fitted to nine tenths of the sources, on the tenth left out: 2563 right, 2 missed, 1 wrong, likelihood -31.31.
//   - Links fitted to all: 2566 right, 0 missed, 0 wrong, likelihood -17.00.
type weight struct {
	hand, fitted float64
}

var phraseWeights = map[string]weight{
	"word that means a code and nothing else": {4, 4.64},
	"word that may mean a code":               {3, 4.43},
	"word right beside it":                    {0.5, 0.41},
	"word nearer to another number":           {-1.5, -0.46},
	"distance of the word, in 100 characters": {-2, -0.83},
}

var codeWeights = map[string]weight{
	"six digits":                                 {0.7, 0.44},
	"as long as a telephone number":              {-5, -5.00},
	"looks like a year":                          {-1, -0.94},
	"looks like a year, no word right beside it": {-1.5, -0.96},
	"year of a date":                             {-2, -3.41},
	"one character to a cell":                    {1.6, 1.94},
	"letters one to a cell, no word near":        {-3.5, -3.68},
	"groups, no word near":                       {-1.5, -1.50},
	"prefix of another number, or no word near":  {-1.5, -1.50},
	"letters and digits, no word near":           {-3, -3.03},
	"a word and a number, as coupons are":        {-2.5, -2.77},
	"a name and a number":                        {-2, -3.20},
	"capitals, not marked":                       {-3.4, -3.40},
	"part of a phrase":                           {-4, -4.00},
	"words with hyphens":                         {-0.7, -0.84},
	"small letters":                              {-1.2, -1.19},
	"two words":                                  {-0.7, -0.77},
	"where no code of this shape would be":       {-8, -8.00},
	"alone in its line":                          {1.3, 1.44},
	"digits set far apart":                       {1.5, 1.85},
	"monospaced":                                 {0.4, 0.42},
	"bold":                                       {0.4, 0.76},
	"in a box":                                   {0.4, 0.69},
	"the only number, set apart in a mail that asks for something":    {0.7, 0.89},
	"set apart, and the subject asks for something":                   {0.6, 1.13},
	"the only number of a short mail that asks for something":         {3, 4.79},
	"alone in a short mail about a code":                              {1, 1.55},
	"the only number, in a sentence that asks":                        {2, 2.01},
	"letters and digits in a sentence that asks":                      {5, 5.39},
	"word for a password before it":                                   {-3, -3.00},
	"in the footer":                                                   {-2.5, -2.81},
	"quoted":                                                          {-3.5, -4.09},
	"part of a link":                                                  {-1.5, -1.50},
	"a word right beside it in its sentence":                          {0.8, 1.03},
	"after a colon":                                                   {0.3, 0.31},
	"the subject names a one-time code":                               {0.8, 0.22},
	"its line says that it expires":                                   {0.4, 0.59},
	"in the subject too":                                              {1.5, 1.31},
	"in both bodies":                                                  {0.5, 0.50},
	"in a link that asks for something":                               {2, 2.53},
	"in a link that asks for something, and after a colon":            {2, 2.50},
	"numbered with # or №":                                            {-4, -4.17},
	"the number of something in the subject":                          {-4, -4.00},
	"name of another number right before it":                          {-5, -5.11},
	"name of another number before it, and none of a code":            {-2.5, -2.39},
	"name of another number above it":                                 {-4, -4.00},
	"a later sentence names another number":                           {-2, -2.56},
	"a quantity":                                                      {-5, -5.00},
	"word for another kind of code beside it":                         {-4, -4.00},
	"word for another kind of code above it":                          {-4, -4.03},
	"part of a name":                                                  {-4, -4.00},
	"one of a list of such":                                           {-4, -4.39},
	"beside a percentage":                                             {-2, -2.05},
	"words of trade in its line":                                      {-1, -2.96},
	"the mail is about a meeting":                                     {-5, -5.14},
	"the mail is about orders, offers or news":                        {-3, -4.72},
	"nothing says what it opens, and some of the mail is about trade": {-2, -2.24},
	"nothing says which of the numbers is the code":                   {-1.7, -3.70},
	"nothing says what it opens, and there are other figures":         {-1.6, -2.59},
	"subject and line tell what has happened":                         {-3, -3.56},
	"the subject tells what has happened":                             {-2, -2.00},
}

var linkWeights = map[string]weight{
	"its text asks what the subject asks":                      {4, 5.28},
	"its text asks what the mail opens with":                   {3.3, 3.16},
	"its text asks":                                            {2.5, 2.40},
	"a bare or general text":                                   {1, 1.09},
	"a button":                                                 {1, 1.27},
	"named like the links of a footer":                         {-4, -4.01},
	"about an order, an offer or news":                         {-2.5, -2.86},
	"undoes or refuses":                                        {-4, -4.00},
	"a mere way to sign in":                                    {-4, -4.00},
	"a mere way to join":                                       {-2, -2.39},
	"no more than a word of signing in near it":                {-0.5, -0.09},
	"its sentence asks":                                        {1.2, 1.36},
	"nothing in the mail asks":                                 {-2.5, -2.53},
	"to be copied into a browser":                              {1, 1.02},
	"beside words of trade":                                    {-1.5, -1.49},
	"for those who did not ask":                                {-4, -4.10},
	"in the footer":                                            {-5, -5.00},
	"carries a secret":                                         {1.3, 1.55},
	"carries what looks like a secret":                         {0.7, 1.79},
	"its path says so too":                                     {1.2, 1.54},
	"its path asks":                                            {0.5, 1.74},
	"asks by its path and carries a secret":                    {1, 0.42},
	"the only link, asks by its path and carries a secret":     {2.2, 2.36},
	"asks nothing by its path, and carries nothing":            {-2, -2.17},
	"leads to a front page":                                    {-3, -2.86},
	"leads to what footers link to":                            {-3, -3.00},
	"its path undoes or refuses":                               {-8, -8.00},
	"leads to a call":                                          {-4, -4.00},
	"carries the marks of a campaign and no secret":            {-7, -7.12},
	"a profile in a social network, or a shop of applications": {-6, -6.00},
	"the subject tells what has happened, but it asks":         {-1.8, -1.30},
	"the subject tells what has happened":                      {-3, -2.54},
	"the mail tells what has happened":                         {-1.5, -1.50},
	"the subject asks, and tells what has happened":            {-1, -1.07},
	"the mail is about orders, offers or news":                 {-3, -3.98},
	"the mail is about orders, offers or news, but it answers": {-0.8, -0.58},
	"the subject asks for something":                           {0.8, 1.32},
	"the mail has a code, which it does not carry":             {-3.5, -3.66},
	"the mail is about a meeting":                              {-4, -4.00},
	"the only link of a short mail, which asks for something":  {1, 1.60},
	"the only answer to the subject":                           {1, 1.23},
}
