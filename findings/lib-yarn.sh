# Shared by the findings on Hadoop: the libraries of a ResourceManager of YARN 3.4.2. Needs Java 17
# and Maven.
. "$(dirname "$0")/lib.sh"
cd "$folder"
cat >pom.xml <<'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>example</groupId>
  <artifactId>finding</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.hadoop</groupId>
      <artifactId>hadoop-yarn-server-resourcemanager</artifactId>
      <version>3.4.2</version>
    </dependency>
  </dependencies>
</project>
POM
mvn --quiet --batch-mode -Dstyle.color=never \
    org.apache.maven.plugins:maven-dependency-plugin:2.8:build-classpath \
    -Dmdep.outputFile=classpath

# java_says EXPECTED: runs the Java program on standard input.
java_says() {
    cat >Finding.java
    local seen
    seen=$(java -cp "$(cat classpath)" Finding.java 2>errors.log) || {
        cat errors.log >&2
        exit 1
    }
    compare "$1" "$seen"
}
