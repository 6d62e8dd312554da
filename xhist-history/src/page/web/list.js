// A list of any length: only the rows in sight are in the page.
//
// Browsers limit the height of an element, so a long list scrolls in a shorter room: small moves go pixel by pixel, and the
// bar of the list jumps.
const MAX_HEIGHT = 8e6;

class VirtualList {
  // `make` makes an empty row, `fill(row, index)` shows an entry in it.
  constructor(box, { make, fill, pick, height = 20 }) {
    Object.assign(this, { box, make, fill, height, count: 0, top: 0, rows: [], shownAt: -1 });
    this.view = element("div", "view");
    this.room = element("div", "room");
    box.append(this.view, this.room);
    box.tabIndex = 0;
    box.addEventListener("scroll", () => this.scrolled());
    box.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    if (pick) {
      this.view.addEventListener("click", (event) => {
        const row = event.target.closest(".row");
        if (row && row.index < this.count) pick(row.index, event);
      });
    }
    new ResizeObserver(() => this.draw()).observe(box);
  }

  get whole() { return this.count * this.height; }
  get end() { return Math.max(0, this.whole - this.box.clientHeight); }
  get isScaled() { return this.whole > MAX_HEIGHT; }

  setCount(count) {
    this.count = count;
    this.room.style.height = `${Math.min(this.whole, MAX_HEIGHT)}px`;
    this.moveTo(this.top);
  }

  // The bar follows the position.
  moveTo(top) {
    this.top = Math.max(0, Math.min(top, this.end));
    const bar = this.isScaled ? this.barOf(this.top) : this.top;
    this.setBar = Math.round(bar);
    if (Math.abs(this.box.scrollTop - this.setBar) > 0.5) this.box.scrollTop = this.setBar;
    this.seen = this.box.scrollTop;
    this.draw();
  }

  barOf(top) {
    const range = this.box.scrollHeight - this.box.clientHeight;
    const bar = this.end === 0 ? 0 : (top / this.end) * range;
    // There is room to both sides, except at the ends.
    return top <= 0 ? 0 : top >= this.end ? range : Math.max(1, Math.min(bar, range - 1));
  }

  scrolled() {
    const bar = this.box.scrollTop, moved = bar - this.seen;
    if (moved === 0) return;
    this.seen = bar;
    if (!this.isScaled) {
      this.top = bar;
      return this.draw();
    }
    const range = this.box.scrollHeight - this.box.clientHeight;
    const isSmall = Math.abs(moved) < 2 * this.box.clientHeight && bar > 0 && bar < range;
    this.top = isSmall ? Math.max(0, Math.min(this.top + moved, this.end)) : (bar / range) * this.end;
    this.draw();
    // The bar catches up when the motion has ended.
    clearTimeout(this.rest);
    if (isSmall) this.rest = setTimeout(() => this.moveTo(this.top), 250);
  }

  wheel(event) {
    if (!this.isScaled || event.ctrlKey || event.deltaY === 0) return;
    event.preventDefault();
    const unit = event.deltaMode === 1 ? this.height : event.deltaMode === 2 ? this.box.clientHeight : 1;
    this.moveTo(this.top + event.deltaY * unit);
  }

  // Brings an entry into sight; in the middle if it was far away.
  show(index) {
    const [top, inSight] = [index * this.height, this.box.clientHeight];
    if (inSight === 0) return;
    const margin = Math.min(3 * this.height, inSight / 4);
    const isNear = top > this.top - inSight && top < this.top + 2 * inSight;
    if (!isNear) this.moveTo(top - inSight / 2);
    else if (top < this.top + margin) this.moveTo(top - margin);
    else if (top + this.height > this.top + inSight - margin) this.moveTo(top + this.height - inSight + margin);
  }

  draw() {
    if (this.drawing) return;
    this.drawing = requestAnimationFrame(() => {
      this.drawing = 0;
      this.drawNow();
    });
  }

  drawNow() {
    const first = Math.floor(this.top / this.height);
    const needed = Math.min(this.count - first, Math.ceil(this.box.clientHeight / this.height) + 1);
    while (this.rows.length < needed) {
      const row = this.make();
      row.classList.add("row");
      row.style.height = `${this.height}px`;
      this.rows.push(row);
      this.view.append(row);
    }
    this.rows.forEach((row, at) => {
      row.hidden = at >= needed;
      row.index = first + at;
      if (row.hidden) return;
      row.style.transform = `translateY(${(first + at) * this.height - this.top}px)`;
      this.fill(row, first + at);
    });
  }
}
