package org.meed.yarn;

import java.nio.charset.StandardCharsets;

/** Writes JSON: objects, arrays, texts and whole numbers are all that questions need. */
final class Json {
  private final StringBuilder text = new StringBuilder(1024);
  private boolean first = true;

  private Json comma() {
    if (!first) {
      text.append(',');
    }
    first = false;
    return this;
  }

  Json key(String key) {
    comma();
    quote(key);
    text.append(':');
    first = true;
    return this;
  }

  Json object() {
    comma();
    text.append('{');
    first = true;
    return this;
  }

  Json endObject() {
    text.append('}');
    first = false;
    return this;
  }

  Json array() {
    comma();
    text.append('[');
    first = true;
    return this;
  }

  Json endArray() {
    text.append(']');
    first = false;
    return this;
  }

  Json value(long number) {
    comma();
    text.append(number);
    return this;
  }

  Json value(boolean flag) {
    comma();
    text.append(flag);
    return this;
  }

  Json value(String string) {
    comma();
    quote(string);
    return this;
  }

  private static boolean isPlain(char c) {
    return c >= 0x20 && c != '"' && c != '\\' && !Character.isSurrogate(c);
  }

  /** Most texts are written as they are. */
  private void quote(String string) {
    int plain = 0;
    while (plain < string.length() && isPlain(string.charAt(plain))) {
      plain++;
    }
    text.append('"');
    if (plain == string.length()) {
      text.append(string).append('"');
      return;
    }
    for (int i = 0; i < string.length(); i++) {
      char c = string.charAt(i);
      if (c == '"' || c == '\\') {
        text.append('\\').append(c);
      } else if (isPlain(c)) {
        text.append(c);
      } else {
        // Half a pair is no text; the other side refuses it, and says so.
        text.append(String.format("\\u%04x", (int) c));
      }
    }
    text.append('"');
  }

  @Override
  public String toString() {
    return text.toString();
  }

  byte[] bytes() {
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }
}
