// What the graph looks like: colours, sizes, and pictures of what is on the screen.

const colours = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#7a68a6", "#8c8c00", "#00a0a0", "#a6611a", "#5e81ac", "#b5739d"];
const otherColour = "#9aa3af", maxColoured = 24;
const colour = c => c >= maxColoured ? otherColour : colours[c % colours.length];

// ground are the colours that the theme gives, as WebGL reads them.
function ground() {
  const probe = document.createElement("span");
  document.body.append(probe);
  const of = name => {
    probe.style.color = `var(--${name})`;
    return "#" + getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(v => Math.round(+v).toString(16).padStart(2, "0")).join("");
  };
  const out = { paper: of("paper"), ink: of("ink"), edge: of("edge"), faint: of("faint"), accent: of("accent") };
  probe.remove();
  return out;
}

// hover writes the name of a node on the ground of the page.
function hover(theme) {
  return (context, data, settings) => {
    const size = settings.labelSize;
    context.font = `600 ${size}px ${settings.labelFont}`;
    const label = data.label || "", width = context.measureText(label).width;
    context.fillStyle = theme().paper;
    context.globalAlpha = .92;
    context.beginPath();
    context.roundRect(data.x + data.size + 1, data.y - size / 2 - 5, width + 10, size + 9, 5);
    context.fill();
    context.globalAlpha = 1;
    context.beginPath();
    context.arc(data.x, data.y, data.size + 2, 0, 2 * Math.PI);
    context.strokeStyle = theme().ink;
    context.lineWidth = 1.5;
    context.stroke();
    context.fillStyle = theme().ink;
    context.fillText(label, data.x + data.size + 6, data.y + size / 3);
  };
}

// free are the names that stand clear of greater ones and of the edges, each with its left end.
function free(context, names, width) {
  const taken = [];
  return names.filter(n => n.label).sort((a, b) => !!b.forceLabel - !!a.forceLabel || b.size - a.size || a.key - b.key).filter(n => {
    const wide = context.measureText(n.label).width, right = n.x + n.size + 3;
    const clear = x => x >= 0 && x + wide <= width && !taken.some(t => x < t.left + t.wide && t.left < x + wide && Math.abs(t.y - n.y) < 15);
    n.left = [right, n.x - n.size - 3 - wide].find(clear) ?? (n.forceLabel ? right : null);
    if (n.left !== null) taken.push({ left: n.left, wide, y: n.y });
    return n.left !== null;
  });
}

// shapes hands what is on the screen to a painter: edges, then nodes, then names.
function shapes(view, painter) {
  const { renderer, graph } = view, { width, height } = renderer.getDimensions();
  const at = new Map();
  const seen = (x, y) => x > -50 && y > -50 && x < width + 50 && y < height + 50;
  graph.forEachNode(node => {
    const d = renderer.getNodeDisplayData(node);
    if (!d.hidden) at.set(node, { ...renderer.framedGraphToViewport(d), size: renderer.scaleSize(d.size), color: d.color });
  });
  graph.forEachEdge((edge, _, from, to) => {
    const a = at.get(from), b = at.get(to), d = renderer.getEdgeDisplayData(edge);
    if (a && b && !d.hidden && (seen(a.x, a.y) || seen(b.x, b.y))) painter.line(a, b, d.color, d.size);
  });
  for (const n of at.values()) if (seen(n.x, n.y)) painter.dot(n, n.color);
  view.names.forEach(painter.name);
  return { width, height };
}

// svg is a picture of the screen.
function svg(view) {
  const theme = view.theme, out = [];
  const safe = s => s.replace(/[&<>"]/g, c => `&#${c.charCodeAt(0)};`), f = v => v.toFixed(1);
  const { width, height } = shapes(view, {
    line: (a, b, color, size) => out.push(`<path d="M${f(a.x)} ${f(a.y)}L${f(b.x)} ${f(b.y)}" stroke="${color}" stroke-width="${size}"/>`),
    dot: (n, color) => out.push(`<circle cx="${f(n.x)}" cy="${f(n.y)}" r="${f(n.size)}" fill="${color}"/>`),
    name: n => out.push(`<text x="${f(n.left)}" y="${f(n.y + 4)}">${safe(n.label)}</text>`),
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="13" fill="${theme.ink}"><rect width="100%" height="100%" fill="${theme.paper}"/>\n${out.join("\n")}\n</svg>\n`;
}

// png is the same, twice as fine, as a promise of a blob.
function png(view) {
  const canvas = document.createElement("canvas"), { width, height } = view.renderer.getDimensions();
  canvas.width = 2 * width;
  canvas.height = 2 * height;
  const c = canvas.getContext("2d");
  c.scale(2, 2);
  c.fillStyle = view.theme.paper;
  c.fillRect(0, 0, width, height);
  c.font = "13px sans-serif";
  shapes(view, {
    line: (a, b, color, size) => { c.strokeStyle = color; c.lineWidth = size; c.beginPath(); c.moveTo(a.x, a.y); c.lineTo(b.x, b.y); c.stroke(); },
    dot: (n, color) => { c.fillStyle = color; c.beginPath(); c.arc(n.x, n.y, n.size, 0, 2 * Math.PI); c.fill(); },
    name: n => { c.fillStyle = view.theme.ink; c.fillText(n.label, n.left, n.y + 4); },
  });
  return new Promise(done => canvas.toBlob(done, "image/png"));
}

// save hands a file to the person.
function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
