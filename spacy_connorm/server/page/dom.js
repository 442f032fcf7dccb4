// Small helpers. Text becomes text nodes only, never HTML.

export const $ = (id) => document.getElementById(id);

// An element: its tag with classes ("p.muted"), its properties, its children.
export function h(tag, properties = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  element.classList.add(...classes);
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key in element && typeof value !== "string") element[key] = value;
    else if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter(Boolean));
}

export function percent(share) {
  return `${Math.round(100 * share)} %`;
}

// Says that something is being done, if it takes long enough to be noticed.
export async function busy(element, work) {
  const timer = setTimeout(() => element.setAttribute("aria-busy", "true"), 150);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    element.removeAttribute("aria-busy");
  }
}

// While some work runs, asking for it again repeats it once it has ended: a server is never asked
// for more than one answer that nobody will see.
export function oneAtATime(work) {
  let isRunning = false;
  let isStale = false;
  return async () => {
    isStale = true;
    if (isRunning) return;
    isRunning = true;
    try {
      while (isStale) {
        isStale = false;
        await work();
      }
    } finally {
      isRunning = false;
    }
  };
}

let hiding = 0;

export function toast(message, action = null) {
  clearTimeout(hiding);
  fill($("toast"), h("span", {}, message), action && h("button", { type: "button", onclick: action.run }, action.label));
  hiding = setTimeout(() => fill($("toast")), 8000);
}

export function emptyState(title, advice, ...more) {
  return h("div.empty", {}, h("p.strong", {}, title), h("p.muted", {}, advice), ...more);
}
