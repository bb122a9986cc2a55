// Package sessions makes tool sessions, takes their submissions, joins the results, and serves the pages of their
// links.
//
// Who has the link of a session may submit to it, as the session itself: with the permission that the tool asked
// for when the session was made, and no other. A tool whose calls need an approval gets no link, and a submission by a
// link is refused where its call would need one. What comes by a link is marked as untrusted wherever it is shown.
package sessions
