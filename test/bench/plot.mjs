const WIDTH = 720;
const HEIGHT = 400;
const MARGIN = { left: 60, right: 130, top: 48, bottom: 52 };
const LINES = {
  peer: { label: 'gemini-cli-core', color: '#b3461e' },
  cold: { label: 'hookstack, cold', color: '#7a7f87' },
  warm: { label: 'hookstack', color: '#1f6fb2' },
  floor: { label: 'the scripts alone', color: '#4c8a3f' },
};

/**
 * Draws a latency by the memory of the host: a line through the medians, the quartiles as bars.
 *
 * @param {string} what takes that long
 * @param {readonly import('./latencyByMemory.mjs').Point[]} points
 * @returns {string} an SVG
 */
export function drawLatency(what, points) {
  const x = scale(
    [0, roundUp(Math.max(...points.map((point) => point.residentMiB)), 200)],
    [MARGIN.left, WIDTH - MARGIN.right],
  );
  const y = scale(
    [0, roundUp(Math.max(...points.map((point) => point.ms.upper)), 10)],
    [HEIGHT - MARGIN.bottom, MARGIN.top],
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13" fill="#333">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    text(MARGIN.left, 24, `${what}, by resident memory of the host`),
    ...drawAxes(x, y),
    ...Object.keys(LINES).flatMap((name) =>
      drawLine(
        LINES[name],
        points.filter((point) => point.name === name),
        x,
        y,
      ),
    ),
    '</svg>\n',
  ].join('\n');
}

function drawAxes(x, y) {
  const [left, right] = x.range;
  const [bottom, top] = y.range;
  return [
    ...ticks(y.domain).flatMap((ms) => [
      `<path d="M${left} ${y(ms)}H${right}" stroke="#e2e2e2"/>`,
      text(left - 8, y(ms) + 4, `${ms}`, 'end'),
    ]),
    ...ticks(x.domain).map((mebibytes) =>
      text(x(mebibytes), bottom + 20, `${mebibytes}`, 'middle'),
    ),
    `<path d="M${left} ${top}V${bottom}H${right}" stroke="#333" fill="none"/>`,
    text((left + right) / 2, bottom + 42, 'MiB resident', 'middle'),
    text(left - 8, top - 10, 'ms', 'end'),
  ];
}

function drawLine({ label, color }, points, x, y) {
  const last = points.at(-1);
  if (!last) return [];
  const path = points.map(({ residentMiB, ms }) => `${x(residentMiB)} ${y(ms.median)}`).join('L');
  return [
    `<path d="M${path}" stroke="${color}" stroke-width="2" fill="none"/>`,
    ...points.flatMap(({ residentMiB, ms }) => [
      `<path d="M${x(residentMiB)} ${y(ms.lower)}V${y(ms.upper)}" stroke="${color}" stroke-width="5" stroke-opacity=".35"/>`,
      `<circle cx="${x(residentMiB)}" cy="${y(ms.median)}" r="3.5" fill="${color}"/>`,
    ]),
    text(x(last.residentMiB) + 10, y(last.ms.median) + 4, label, 'start', color),
  ];
}

function text(x, y, content, anchor = 'start', color = '#333') {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="${color}">${content}</text>`;
}

function scale(domain, range) {
  const [from, to] = domain;
  const [start, end] = range;
  const position = (value) =>
    Math.round((start + ((value - from) / (to - from)) * (end - start)) * 10) / 10;
  return Object.assign(position, { domain, range });
}

function ticks([from, to]) {
  const step = (to - from) / 5;
  return Array.from({ length: 6 }, (_, index) => Math.round(from + index * step));
}

function roundUp(value, step) {
  return Math.ceil(value / step) * step;
}
