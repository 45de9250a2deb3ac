// Makes the calls that Coral makes to Perspective: the operation is joined to the path of the endpoint in its settings, the
// key is a parameter, and the body is JSON.
//
//     node coral.mjs URL KEY TEXT
//
// prints the answers as JSON.

const [url, key, text] = process.argv.slice(2);
const model = "TOXICITY";

async function send(operation, body, sentKey = key) {
  const address = new URL(`${url}/v1alpha1`);
  address.pathname = `${address.pathname}/${operation}`;
  address.searchParams.set("key", sentKey);
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(address, { method: "POST", headers, body: JSON.stringify(body) });
  return { status: response.status, data: await response.json() };
}

const comment = { text };
const languages = ["en"];
const context = { entries: [{ text: JSON.stringify({ url: "https://forum.example/story?commentID=7" }) }] };
const analyze = { comment, doNotStore: true, requestedAttributes: { [model]: {} }, languages };
const suggest = {
  comment,
  context,
  attributeScores: { [model]: { summaryScore: { value: 1 } } },
  languages,
  communityId: "Coral:https://forum.example",
  clientToken: "comment:7",
};
console.log(
  JSON.stringify({
    analyzed: await send("comments:analyze", analyze),
    suggested: await send("comments:suggestscore", suggest),
    wrong: await send("comments:analyze", analyze, "none"),
  }),
);
