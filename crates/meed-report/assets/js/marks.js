// Purpose: marks in a line chart: upright ones with their labels in lanes above the plot, level ones with labels beside
// the lines. Labels never overlap: those that find no room are left to the list below the chart.

Meed.marks = (() => {
  const { theme } = Meed;
  const FONT = "12px system-ui, sans-serif";
  const LANE = 16;
  const LANES = 3;
  const ROOM = 7;

  const pen = document.createElement("canvas").getContext("2d");
  function widthOf(text) {
    pen.font = FONT;
    return pen.measureText(text).width;
  }

  /** Lanes for labels that begin at a place, or end there when the right edge is too near; -1 where no lane is free. */
  function lanes(labels, width, most) {
    const taken = [];
    return labels.map(({ x, text }) => {
      const long = widthOf(text);
      const left = x + 4 + long > width && x - 4 - long >= 0 ? x - 4 - long : Math.max(0, Math.min(x + 4, width - long));
      for (let lane = 0; lane < most; lane++) {
        if (taken.every((t) => t.lane !== lane || left > t.right + ROOM || left + long + ROOM < t.left)) {
          taken.push({ lane, left, right: left + long });
          return { lane, left };
        }
      }
      return { lane: -1, left };
    });
  }

  /** What stands at the marks: their labels when all find room, otherwise their numbers in the list. */
  function texts(marks, place, width) {
    const full = marks.map((m) => ({ x: place(m.at), text: m.label }));
    const fits = full.every((l) => widthOf(l.text) < width * 0.6) && lanes(full, width, LANES).every((l) => l.lane >= 0);
    const shown = fits ? full : full.map((l, i) => ({ ...l, text: String(i + 1) }));
    const used = lanes(shown, width, LANES).reduce((n, l) => Math.max(n, l.lane + 1), 0);
    return { texts: shown.map((l) => l.text), numbered: !fits, height: used * LANE };
  }

  /** Draws into a plot; pixels of the canvas are `ratio` times those of the page. */
  function draw(u, marks, shown, levels) {
    const ratio = window.devicePixelRatio || 1;
    const { ctx, bbox } = u;
    const [left, top, width, height] = [bbox.left, bbox.top, bbox.width, bbox.height].map((v) => v / ratio);
    const [ink, paper] = [theme.color("ink"), theme.color("panel")];
    ctx.save();
    ctx.scale(ratio, ratio);
    ctx.font = FONT;
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    const line = (x0, y0, x1, y1, dash) => {
      ctx.setLineDash(dash);
      ctx.strokeStyle = ink;
      ctx.lineWidth = 1.2;
      ctx.beginPath();
      ctx.moveTo(x0, y0);
      ctx.lineTo(x1, y1);
      ctx.stroke();
    };
    const write = (text, x, y) => {
      ctx.setLineDash([]);
      ctx.strokeStyle = paper;
      ctx.lineWidth = 4;
      ctx.lineJoin = "round";
      ctx.strokeText(text, x, y);
      ctx.fillStyle = ink;
      ctx.fillText(text, x, y);
    };
    const inside = marks.map((m, i) => ({ x: u.valToPos(m.at, "x"), text: shown[i] })).filter((l) => l.x >= -0.5 && l.x <= width + 0.5);
    const placed = lanes(inside, width, LANES);
    inside.forEach((l, i) => line(left + l.x, top - Math.max(0, placed[i].lane) * LANE - (placed[i].lane < 0 ? 0 : LANE - 2), left + l.x, top + height, [3, 3]));
    inside.forEach((l, i) => { if (placed[i].lane >= 0) write(l.text, left + placed[i].left, top - placed[i].lane * LANE - 5); });
    const taken = [];
    for (const level of levels) {
      const y = u.valToPos(level.at, "y");
      if (y >= -0.5 && y <= height + 0.5) line(left, top + y, left + width, top + y, [10, 4]);
    }
    for (const level of levels) {
      const y = u.valToPos(level.at, "y");
      if (y < -0.5 || y > height + 0.5) continue;
      const long = widthOf(level.label);
      const spots = [width - long - 4, 4, (width - long) / 2].flatMap((x) => [[x, y - 5], [x, y + 14]]);
      const free = spots.find(([x, base]) => x >= 0 && base > 10 && base < height - 2
        && taken.every((t) => x > t.x + t.long + ROOM || x + long + ROOM < t.x || Math.abs(base - t.base) >= 14)
        && levels.every((o) => o === level || Math.abs(u.valToPos(o.at, "y") - (base - 4)) >= 6));
      if (!free) continue;
      taken.push({ x: free[0], base: free[1], long });
      write(level.label, left + free[0], top + free[1]);
    }
    ctx.restore();
  }

  return { texts, draw };
})();
