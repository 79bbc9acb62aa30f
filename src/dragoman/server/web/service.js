// What the service is asked and what it answered. Answers are remembered: a page that was saved lives on them.

const MOST = 600;

class Refused extends Error {
  constructor(message, hint = "") {
    super(message);
    this.hint = hint;
  }
}

export function keyOf(path, body) {
  return body === undefined ? path : `${path} ${JSON.stringify(body)}`;
}

// `answers` are those that came with the page; `offline` says that there will be no others.
export function makeService(answers, { offline = false, most = MOST, fetch = globalThis.fetch.bind(globalThis) } = {}) {
  const known = new Map(Object.entries(answers));
  let apiKey = "";

  async function ask(path, body) {
    const key = keyOf(path, body);
    if (known.has(key)) return known.get(key);
    if (offline)
      throw new Refused(
        "This page was saved, and this was not saved with it.",
        "open the page that the service serves",
      );
    const sent = apiKey && body ? { ...body, api_key: apiKey } : body;
    const words = sent && {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(sent),
    };
    const answer = await fetch(path, words);
    const told = await answer.json().catch(() => ({ error: `The service answered ${answer.status}` }));
    if (!answer.ok) throw new Refused(told.error ?? `The service answered ${answer.status}`, told.hint);
    remember(key, told);
    return told;
  }

  function remember(key, told) {
    known.set(key, told);
    if (known.size > most) known.delete(known.keys().next().value);
  }

  return {
    ask,
    offline,
    forget: () => known.clear(),
    key: () => apiKey,
    useKey: (key) => (apiKey = key),
  };
}
